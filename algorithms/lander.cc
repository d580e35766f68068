/* ring: glue */
/* LunarLander on Box2D. Arithmetic that Gymnasium does in doubles is done in
 * doubles; what enters Box2D is rounded to float there. */
#include "algorithms/lander.h"

#include <box2d/box2d.h>

#include <cmath>
#include <new>

namespace
{

const double SCALE = 30.0;
const double WIDTH = 600 / SCALE;
const double HEIGHT = 400 / SCALE;
const double STEPS_PER_SECOND = 50;
const int CHUNKS = 11;
const double LEG_AWAY = 20;
const double LEG_DOWN = 18;
const double PAD = HEIGHT / 4;
const double PI = 3.14159265358979323846;

b2Vec2 vec(double x, double y)
{
    return b2Vec2(static_cast<float>(x), static_cast<float>(y));
}

} // namespace

struct assay_lander : public b2ContactListener {
    assay_lander_params params;
    /* built anew for every episode: nothing of the last one is left */
    alignas(b2World) unsigned char room[sizeof(b2World)];
    b2World *world;
    b2Body *moon = nullptr;
    b2Body *hull = nullptr;
    b2Body *leg[2] = {nullptr, nullptr};
    bool touches[2] = {false, false};
    bool crashed = false;
    bool has_shaping = false;
    double shaping = 0;
    double wind_at = 0;
    double torque_at = 0;

    explicit assay_lander(const assay_lander_params &p)
        : params(p), world(new (room) b2World(vec(0, -p.gravity)))
    {
    }
    ~assay_lander() override
    {
        end();
    }
    assay_lander(const assay_lander &) = delete;
    assay_lander &operator=(const assay_lander &) = delete;
    void end();
    void BeginContact(b2Contact *contact) override
    {
        touch(contact, true);
    }
    void EndContact(b2Contact *contact) override
    {
        touch(contact, false);
    }
    void touch(b2Contact *contact, bool begins);
    void clear();
    void build_moon(const double *height);
    void build_hull(double force_x, double force_y);
    void build_leg(int side);
    void blow();
    void fire_main(double spread, double aside);
    void fire_side(int direction, double spread, double aside);
    void push(double ox, double oy, double power, const b2Vec2 &at);
    void observe(double *state) const;
};

void assay_lander::touch(b2Contact *contact, bool begins)
{
    const b2Body *a = contact->GetFixtureA()->GetBody();
    const b2Body *b = contact->GetFixtureB()->GetBody();
    if (begins && (a == hull || b == hull)) {
        crashed = true;
    }
    for (int i = 0; i < 2; i++) {
        if (leg[i] != nullptr && (a == leg[i] || b == leg[i])) {
            touches[i] = begins;
        }
    }
}

void assay_lander::end()
{
    world->SetContactListener(nullptr);
    world->~b2World();
}

void assay_lander::clear()
{
    end();
    world = new (room) b2World(vec(0, -params.gravity));
    world->SetContactListener(this);
    moon = hull = leg[0] = leg[1] = nullptr;
    touches[0] = touches[1] = crashed = has_shaping = false;
}

/* The ground: five chunks around the pad are level. */
void assay_lander::build_moon(const double *drawn)
{
    double height[ASSAY_LANDER_HEIGHTS];
    double smooth[CHUNKS];
    for (int i = 0; i < ASSAY_LANDER_HEIGHTS; i++) {
        bool level = i >= CHUNKS / 2 - 2 && i <= CHUNKS / 2 + 2;
        height[i] = level ? PAD : drawn[i];
    }
    for (int i = 0; i < CHUNKS; i++) {
        double before = height[i == 0 ? ASSAY_LANDER_HEIGHTS - 1 : i - 1];
        smooth[i] = 0.33 * (before + height[i] + height[i + 1]);
    }
    b2BodyDef def;
    b2EdgeShape edge;
    moon = world->CreateBody(&def);
    edge.SetTwoSided(vec(0, 0), vec(WIDTH, 0));
    moon->CreateFixture(&edge, 0);
    for (int i = 0; i + 1 < CHUNKS; i++) {
        b2FixtureDef fixture;
        edge.SetTwoSided(vec(WIDTH / (CHUNKS - 1) * i, smooth[i]),
                         vec(WIDTH / (CHUNKS - 1) * (i + 1), smooth[i + 1]));
        fixture.shape = &edge;
        fixture.density = 0;
        fixture.friction = 0.1f;
        moon->CreateFixture(&fixture);
    }
}

void assay_lander::build_hull(double force_x, double force_y)
{
    static const double corner[6][2] = {{-14, 17}, {-17, 0}, {-17, -10},
                                        {17, -10}, {17, 0},  {14, 17}};
    b2Vec2 point[6];
    b2PolygonShape shape;
    b2BodyDef def;
    b2FixtureDef fixture;
    for (int i = 0; i < 6; i++) {
        point[i] = vec(corner[i][0] / SCALE, corner[i][1] / SCALE);
    }
    shape.Set(point, 6);
    def.type = b2_dynamicBody;
    def.position = vec(WIDTH / 2, HEIGHT);
    fixture.shape = &shape;
    fixture.density = 5;
    fixture.friction = 0.1f;
    fixture.restitution = 0;
    fixture.filter.categoryBits = 0x0010;
    fixture.filter.maskBits = 0x0001;
    hull = world->CreateBody(&def);
    hull->CreateFixture(&fixture);
    hull->ApplyForceToCenter(vec(force_x, force_y), true);
}

/* side -1 is leg 0, side 1 is leg 1 */
void assay_lander::build_leg(int side)
{
    b2PolygonShape shape;
    b2BodyDef def;
    b2FixtureDef fixture;
    b2RevoluteJointDef joint;
    b2Body *body;
    shape.SetAsBox(static_cast<float>(2 / SCALE),
                   static_cast<float>(8 / SCALE));
    def.type = b2_dynamicBody;
    def.position = vec(WIDTH / 2 - side * LEG_AWAY / SCALE, HEIGHT);
    def.angle = static_cast<float>(side * 0.05);
    fixture.shape = &shape;
    fixture.density = 1;
    fixture.restitution = 0;
    fixture.filter.categoryBits = 0x0020;
    fixture.filter.maskBits = 0x0001;
    body = world->CreateBody(&def);
    body->CreateFixture(&fixture);
    joint.bodyA = hull;
    joint.bodyB = body;
    joint.localAnchorA = vec(0, 0);
    joint.localAnchorB = vec(side * LEG_AWAY / SCALE, LEG_DOWN / SCALE);
    joint.enableMotor = true;
    joint.enableLimit = true;
    joint.maxMotorTorque = 40;
    joint.motorSpeed = static_cast<float>(0.3 * side);
    joint.lowerAngle = static_cast<float>(side < 0 ? 0.9 - 0.5 : -0.9);
    joint.upperAngle = static_cast<float>(side < 0 ? 0.9 : -0.9 + 0.5);
    world->CreateJoint(&joint);
    leg[side < 0 ? 0 : 1] = body;
}

void assay_lander::push(double ox, double oy, double power, const b2Vec2 &at)
{
    hull->ApplyLinearImpulse(vec(-ox * power, -oy * power), at, true);
}

static double gust(double at)
{
    return std::tanh(std::sin(0.02 * at) + std::sin(PI * 0.01 * at));
}

/* Wind and turbulence, as long as no leg touches the ground. */
void assay_lander::blow()
{
    if ((params.wind <= 0 && params.turbulence <= 0) || touches[0] ||
        touches[1]) {
        return;
    }
    hull->ApplyForceToCenter(vec(gust(wind_at) * params.wind, 0), true);
    hull->ApplyTorque(static_cast<float>(gust(torque_at) * params.turbulence),
                      true);
    wind_at += 1;
    torque_at += 1;
}

void assay_lander::fire_main(double spread, double aside)
{
    double tip_x = std::sin(static_cast<double>(hull->GetAngle()));
    double tip_y = std::cos(static_cast<double>(hull->GetAngle()));
    double down = 4 / SCALE + 2 * spread;
    double ox = tip_x * down - tip_y * aside;
    double oy = -tip_y * down - tip_x * aside;
    b2Vec2 p = hull->GetPosition();
    push(ox, oy, params.main, vec(p.x + ox, p.y + oy));
}

void assay_lander::fire_side(int direction, double spread, double aside)
{
    double tip_x = std::sin(static_cast<double>(hull->GetAngle()));
    double tip_y = std::cos(static_cast<double>(hull->GetAngle()));
    double away = 3 * aside + direction * 12.0 / SCALE;
    double ox = tip_x * spread - tip_y * away;
    double oy = -tip_y * spread - tip_x * away;
    b2Vec2 p = hull->GetPosition();
    push(ox, oy, params.side,
         vec(p.x + ox - tip_x * 17 / SCALE, p.y + oy + tip_y * 14 / SCALE));
}

void assay_lander::observe(double *state) const
{
    b2Vec2 p = hull->GetPosition();
    b2Vec2 v = hull->GetLinearVelocity();
    state[0] = (p.x - WIDTH / 2) / (WIDTH / 2);
    state[1] = (p.y - (PAD + LEG_DOWN / SCALE)) / (HEIGHT / 2);
    state[2] = v.x * (WIDTH / 2) / STEPS_PER_SECOND;
    state[3] = v.y * (HEIGHT / 2) / STEPS_PER_SECOND;
    state[4] = hull->GetAngle();
    state[5] = 20.0 * hull->GetAngularVelocity() / STEPS_PER_SECOND;
    state[6] = touches[0] ? 1 : 0;
    state[7] = touches[1] ? 1 : 0;
}

extern "C" assay_lander *assay_lander_new(const assay_lander_params *params)
{
    return new (std::nothrow) assay_lander(*params);
}

extern "C" void assay_lander_free(assay_lander *lander)
{
    delete lander;
}

extern "C" void assay_lander_reset(assay_lander *lander,
                                   const double draws[ASSAY_LANDER_DRAWS],
                                   double *state)
{
    double reward;
    int terminated;
    const double *after = draws + ASSAY_LANDER_HEIGHTS;
    lander->clear();
    lander->build_moon(draws);
    lander->build_hull(after[0], after[1]);
    lander->build_leg(-1);
    lander->build_leg(1);
    lander->wind_at = after[4];
    lander->torque_at = after[5];
    assay_lander_step(lander, 0, after + 2, state, &reward, &terminated);
}

/* -100 distance, -100 speed, -100 tilt, +10 a leg */
static double shape(const double *s)
{
    return -100 * std::sqrt(s[0] * s[0] + s[1] * s[1]) -
           100 * std::sqrt(s[2] * s[2] + s[3] * s[3]) - 100 * std::fabs(s[4]) +
           10 * s[6] + 10 * s[7];
}

extern "C" void assay_lander_step(assay_lander *lander, int action,
                                  const double draws[2], double *state,
                                  double *reward, int *terminated)
{
    double seen[ASSAY_LANDER_DIM];
    double now;
    lander->blow();
    if (action == 2) {
        lander->fire_main(draws[0] / SCALE, draws[1] / SCALE);
    } else if (action == 1 || action == 3) {
        lander->fire_side(action - 2, draws[0] / SCALE, draws[1] / SCALE);
    }
    lander->world->Step(static_cast<float>(1.0 / STEPS_PER_SECOND), 180, 60);
    lander->observe(seen);
    now = shape(seen);
    *reward = lander->has_shaping ? now - lander->shaping : 0;
    lander->shaping = now;
    lander->has_shaping = true;
    *reward -= action == 2 ? 0.30 : action == 0 ? 0 : 0.03;
    *terminated = lander->crashed || std::fabs(seen[0]) >= 1.0;
    *reward = *terminated ? -100 : *reward;
    if (!lander->hull->IsAwake()) {
        *terminated = 1;
        *reward = 100;
    }
    for (int i = 0; i < ASSAY_LANDER_DIM; i++) {
        state[i] = static_cast<float>(seen[i]);
    }
}

extern "C" void assay_lander_body(const assay_lander *lander, double body[6])
{
    b2Vec2 p = lander->hull->GetPosition();
    b2Vec2 v = lander->hull->GetLinearVelocity();
    body[0] = p.x;
    body[1] = p.y;
    body[2] = lander->hull->GetAngle();
    body[3] = v.x;
    body[4] = v.y;
    body[5] = lander->hull->GetAngularVelocity();
}
